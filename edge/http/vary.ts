import type { Response } from 'express';
import { remember } from '#shared/remember.ts';

/** Adds request headers to `Vary`; replaces the method of Express. */
export function vary(this: Response, fields: string | string[]): Response {
  const said = this.getHeader('Vary');
  const list = united(`${said ?? ''},${fields}`);
  if (list !== said) this.setHeader('Vary', list);
  return this;
}

/** Memoized, because responses have few different lists. */
const united = remember((list) => {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.includes('*')) return '*';
  const lower = names.map((name) => name.toLowerCase());
  return names.filter((_, index) => lower.indexOf(lower[index] ?? '') === index).join(', ');
});
