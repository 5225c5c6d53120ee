import { encode } from 'uqr';
import { type Html, html } from '#shared/html.ts';

/** Modules of nothing around it: what reads it needs four. */
const BORDER = 4;

/** A text as a picture, dark on light in both schemes, because many readers know it only so. */
export const qrCode = (text: string, label: string): Html => {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER });
  const path = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join('')).join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
};
