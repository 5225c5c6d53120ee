import { crc32, deflateSync } from 'node:zlib';
import type { Random } from '#kernel/demo/random.ts';

const WIDTH = 640;
const HEIGHT = 360;

type Colour = readonly [red: number, green: number, blue: number];

const PALETTES: readonly (readonly [sky: Colour, ground: Colour, sun: Colour])[] = [
  [
    [244, 219, 176],
    [46, 82, 102],
    [214, 96, 58],
  ],
  [
    [207, 226, 232],
    [38, 70, 83],
    [233, 196, 106],
  ],
  [
    [236, 214, 222],
    [84, 52, 84],
    [240, 140, 110],
  ],
  [
    [221, 230, 205],
    [54, 84, 60],
    [232, 168, 60],
  ],
  [
    [30, 41, 72],
    [12, 18, 36],
    [238, 232, 213],
  ],
];

/** A cover in the style of a print with three inks: a sky, a sun, and hills in front. */
export const coverPicture = (random: Random): Buffer => {
  const [sky, ground, sun] = random.pick(PALETTES);
  const centre = {
    x: 100 + random.below(WIDTH - 200),
    y: 70 + random.below(120),
    radius: 36 + random.below(50),
  };
  const hills = Array.from({ length: 3 }, (_, index) => ({
    base: 190 + index * 55 + random.below(20),
    height: 18 + random.below(34),
    length: 120 + random.below(220),
    shift: random.below(WIDTH),
    shade: 0.55 - index * 0.25,
  }));
  const colourAt = (x: number, y: number): Colour => {
    const hill = hills.findLast(
      ({ base, height, length, shift }) => y > base - height * Math.sin(((x + shift) / length) * Math.PI),
    );
    if (hill !== undefined) return mix(ground, sky, Math.max(0, hill.shade));
    return Math.hypot(x - centre.x, y - centre.y) < centre.radius ? sun : mix(sky, sun, (0.25 * y) / HEIGHT);
  };
  return pngOf(colourAt);
};

const mix = (one: Colour, other: Colour, share: number): Colour => {
  const at = (index: 0 | 1 | 2): number => Math.round(one[index] * (1 - share) + other[index] * share);
  return [at(0), at(1), at(2)];
};

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const BITS_OF_A_CHANNEL = 8;
const TRUE_COLOUR = 2;

/** PNG (third edition): a header, all rows unfiltered in one zlib stream, and an end. */
const pngOf = (colourAt: (x: number, y: number) => Colour): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([BITS_OF_A_CHANNEL, TRUE_COLOUR, 0, 0, 0], 8);
  const rowBytes = 1 + 3 * WIDTH;
  const rows = Buffer.alloc(rowBytes * HEIGHT);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) rows.set(colourAt(x, y), y * rowBytes + 1 + 3 * x);
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

const chunk = (type: string, content: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
};
