// Preloaded into a process, whose clock it moves by the milliseconds in the file that CLOCK_MOVED_BY names.
import { readFileSync } from 'node:fs';

const LOOK_MS = 100;
const file = process.env.CLOCK_MOVED_BY ?? '';
const Real = Date;
let byMs = 0;

const look = (): void => {
  try {
    byMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    byMs = 0;
  }
};

class Moved extends Real {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(Moved.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return Real.now() + byMs;
  }
}

globalThis.Date = Moved as DateConstructor;
look();
setInterval(look, LOOK_MS).unref();
