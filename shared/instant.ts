import * as z from 'zod';

/** A time as RFC 3339 writes it, whose letters may be small (section 5.6). */
export const instant = z
  .string()
  .toUpperCase()
  .check(z.iso.datetime({ offset: true, error: 'Must be a time as RFC 3339 writes it.' }));
