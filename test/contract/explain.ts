import type pg from 'pg';
import type { Tapped } from './statement-tap.ts';

/** The databases of tests have unusual settings; recorded plans need the usual ones. */
export const USUAL = `set datestyle = 'ISO'; set timezone = 'UTC'; set standard_conforming_strings = on`;

/** PostgreSQL plans so often with the values; then it decides whether a generic plan is as good. */
const CUSTOM_PLANS = 5;

/** The final plan of a statement, under the settings of its connection. */
export const explain = async (
  client: pg.Client,
  { text, values, isNamed, settings }: Tapped,
): Promise<string> => {
  await client.query('begin');
  try {
    await client.query('set local search_path = read_model');
    for (const setting of settings) await client.query(`set local ${setting}`);
    await client.query(`prepare tapped as ${text}`);
    const literals = values
      .map((value) => (value === null ? 'null' : client.escapeLiteral(value)))
      .join(', ');
    const execute = `explain (costs off) execute tapped${literals && `(${literals})`}`;
    for (let count = 0; isNamed && count < CUSTOM_PLANS; count += 1) await client.query(execute);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(execute);
    await client.query('deallocate tapped');
    return rows
      .map((row) => row['QUERY PLAN'])
      .filter((line) => !WINDOW.test(line))
      .map(ofAnyVersion)
      .join('\n');
  } finally {
    await client.query('rollback');
  }
};

/** From version 18 on, windows have names. */
const WINDOW = /^\s*Window: /;

/** Versions 17 and 18 print the same plan differently. */
const ofAnyVersion = (line: string): string =>
  line.replace(/ \(returns [$\d,]+\)$/, '').replaceAll(/\bOVER (w\d+|\(\?\))/g, 'OVER …');
