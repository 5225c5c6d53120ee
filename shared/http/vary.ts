import type { Response } from 'express';
import { remember } from '#shared/remember.ts';

/** Says that an answer depends on these fields of the request too, as Express does. */
export function vary(this: Response, fields: string | string[]): Response {
  const said = this.getHeader('Vary');
  const list = united(`${said ?? ''},${fields}`);
  if (list !== said) this.setHeader('Vary', list);
  return this;
}

/** The few lists that answers depend on come again and again. */
const united = remember((list) => {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.includes('*')) return '*';
  return [...new Map(names.toReversed().map((name) => [name.toLowerCase(), name])).values()].toReversed().join(', ');
});
