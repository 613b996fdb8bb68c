"""The pages of stacks, components and operators, and the API of stacks. No models."""
