import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Proofs, Proving } from '../../query/proof.ts';
import { pathOf } from '../../query/time-travel/aggregates.ts';
import { proveEvent } from './event-proof.ts';
import { createItemProofs } from './item-proof.ts';

/** A longer one is for REST, which sends it as it is made. */
const CHARACTERS_MAX = 1_000_000;

/** The proofs of single things as texts. */
export const proofsOf = (dependencies: Proving): Proofs => {
  const proveItem = createItemProofs(dependencies);
  return {
    ofEvent: async (caller, id) => (await proveEvent(dependencies, { caller, id })).proof,
    async ofItem(kind, reader, upTo) {
      let text = '';
      for await (const lines of await proveItem(kind, reader, upTo)) {
        text += lines;
        if (text.length > CHARACTERS_MAX)
          throw new HttpProblem('invalid_parameter', {
            detail: `This proof is too long for GraphQL: get it from ${pathOf(dependencies.domain, kind, Number(reader.id))}/proof.`,
          });
      }
      return text;
    },
  };
};
