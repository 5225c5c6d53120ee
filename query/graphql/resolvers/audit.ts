import type { Resolver } from './context.ts';

/** The numbers of the status that REST returns in full. */
export const auditStatus: Resolver = async (_query, _args, { pool, eventLog, caller, proof }) => {
  if (proof === undefined) throw new Error('The proof is not served, and nevertheless in the schema');
  const { chain, signed, unproven, verified } = await proof.readStatus({ pool, eventLog }, caller);
  return {
    chained: chain.count,
    chainHead: chain.head,
    signed: signed?.count ?? 0,
    signedAt: signed?.at,
    unproven: unproven.events,
    verified: verified?.count ?? 0,
    verifiedAt: verified?.finished,
    differences: verified?.differences ?? 0,
  };
};
