import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { SEED } from '../../testing/seed.ts';
import { AssemblyFailed, assembled, type Grown, grow } from './grow.ts';
import { shrink } from './shrink.ts';
import { fileOf } from './source.ts';
import { printed, SURFACES } from './surfaces.ts';

const DOMAINS = Number(process.env.DOMAINS_COUNT ?? 8);

/** The declaration is shrunk before it is shown. */
const grown = async (seed: number): Promise<Grown> => {
  try {
    return grow(seed);
  } catch (error) {
    if (!(error instanceof AssemblyFailed)) throw error;
    const fault = String(error.cause);
    const smallest = await shrink(error.plan, (plan) => faultOf(plan) === fault);
    throw new Error(`seed ${seed}: ${error.message}\n${fileOf(smallest)}`, { cause: error });
  }
};

const faultOf = (plan: Grown['plan']): string | undefined => {
  try {
    assembled(plan);
    return undefined;
  } catch (error) {
    return error instanceof AssemblyFailed ? String(error.cause) : undefined;
  }
};

const SENTENCE = /^\S.*[.]$/s;

test.each(Array.from({ length: DOMAINS }, (_, index) => SEED + index))(
  'a generated domain is refused in one sentence, or has all surfaces, with seed %i',
  async (seed) => {
    const { domain, refused, plan } = await grown(seed);
    for (const sentence of refused) expect(sentence).toMatch(SENTENCE);
    try {
      for (const surface of Object.values(SURFACES)) surface(domain);
      const { valid, errors } = await new Validator().validate(
        JSON.parse(printed(domain, 'openapi')) as Record<string, unknown>,
      );
      expect([errors, valid]).toEqual([undefined, true]);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).stack}\n${fileOf(plan)}`, { cause: error });
    }
  },
);
