/* A drawing of this site as PNG: <button data-png-of="ADDRESS OF AN SVG FILE">. The browser draws the file at twice its
   size and saves the picture; nothing leaves the machine. */
(() => {
  "use strict";
  const SCALE = 2;

  function picture(text) {
    return new Promise((resolve, reject) => {
      const image = new Image();
      const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      image.onload = () => { URL.revokeObjectURL(address); resolve(image); };
      image.onerror = () => { URL.revokeObjectURL(address); reject(new Error("the drawing could not be read")); };
      image.src = address;
    });
  }

  async function png(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`the drawing answered ${response.status}`);
    const image = await picture(await response.text());
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const name = /filename="([^"]+)[.]svg"/.exec(response.headers.get("Content-Disposition") || "");
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("the drawing is too large for this browser");
    return { blob, name: `${name ? name[1] : "drawing"}.png` };
  }

  function save({ blob, name }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-png-of]");
    if (!button || button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    try {
      save(await png(button.dataset.pngOf));
    } catch (problem) {
      console.warn(problem);
      window.location.assign(button.dataset.pngOf); /* the drawing itself, at least */
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
})();
