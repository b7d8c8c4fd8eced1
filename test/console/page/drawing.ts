/** A script that gives the pixels of the floor's drawing, from a copy: a worker has the canvas. */
export const drawnPixels = `(() => {
  const canvas = document.querySelector(".drawing canvas");
  const copy = new OffscreenCanvas(canvas.clientWidth, canvas.clientHeight);
  const ink = copy.getContext("2d");
  ink.drawImage(canvas, 0, 0, copy.width, copy.height);
  return ink.getImageData(0, 0, copy.width, copy.height);
})()`;
