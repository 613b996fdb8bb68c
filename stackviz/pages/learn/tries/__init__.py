"""Things to try: a question, a few numbers, an answer computed on the server. Each module declares one `TRY`.

The address carries every number (`/learn/try/amdahl/?parallel=95&cores=64`), so that an answer can be sent to others.
"""
