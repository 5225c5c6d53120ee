import { z } from 'zod';
import type { CorsOrigins } from '#edge/http/cors.ts';

const PORT_MAX = 65_535;

const COUNT_MAX = 1_000_000_000;

export const integer = (minimum: number, maximum: number) =>
  z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(minimum).max(maximum));
export const port = {
  schema: integer(0, PORT_MAX),
  expected: `a port number from 0 to ${PORT_MAX}, where 0 takes any free one`,
};
export const count = { schema: integer(1, COUNT_MAX), expected: `a whole number from 1 to ${COUNT_MAX}` };
export const rate = { schema: integer(1, 1_000_000), expected: 'a whole number from 1 to 1000000' };
export const address = {
  schema: z.string().regex(/^[A-Za-z0-9.:_%-]+$/),
  expected: 'an IP address or a host name',
};

export const file = {
  schema: z.string().regex(/^(?!-----BEGIN)/),
  expected: 'the path of a PEM file, not its content',
  secret: 'path' as const,
};

const NO_ORIGINS: ReadonlySet<string> = new Set();

/** An origin as browsers write it, so that the two can be compared as text. */
const isOrigin = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;

/** `any`, `none`, or a list. */
export const origins = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((items) => ['any', 'none'].includes(items.join()) || items.every(isOrigin), { error: 'no origins' })
  .transform(
    (items): CorsOrigins => (items[0] === 'any' ? 'any' : items[0] === 'none' ? NO_ORIGINS : new Set(items)),
  );

/** Items with commas between them, or a word that stands for the list. */
export const listOf = <Item>(parse: (text: string) => Item | undefined) =>
  z.string().transform((text, context): Item[] => {
    const parts = text.split(',');
    const items = parts.map((part) => parse(part.trim())).filter((item) => item !== undefined);
    if (items.length < parts.length) context.addIssue('not all are such items');
    return items;
  });

export const numberIn =
  (minimum: number, maximum: number) =>
  (text: string): number | undefined =>
    /^\d+(\.\d+)?$/.test(text) && Number(text) >= minimum && Number(text) <= maximum
      ? Number(text)
      : undefined;

export const portNumber = (text: string): number | undefined =>
  /^\d+$/.test(text) ? numberIn(1, PORT_MAX)(text) : undefined;

const HEADER = /^([\w!#$%&'*+.^`|~-]+)=((?:[\x21-\x24\x26-\x7e]|%[\dA-Fa-f]{2})*)$/;

/** As OpenTelemetry writes them: the values are percent-encoded. */
export const headers = listOf((text) => {
  const [, name, value] = HEADER.exec(text) ?? [];
  return name === undefined || value === undefined
    ? undefined
    : ([name.toLowerCase(), decodeURIComponent(value)] as const);
}).transform((pairs): Readonly<Record<string, string>> => Object.fromEntries(pairs));

export const isUrlOf = (text: string, protocols: readonly string[]): boolean =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol);
export const urlOf = (...protocols: readonly string[]) =>
  z.string().refine((text) => isUrlOf(text, protocols), { error: 'wrong protocol' });

export const postgres = ['postgres:', 'postgresql:'];
