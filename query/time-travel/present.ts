import type { Link } from '#kernel/base/rest/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller, Resource } from '#shared/policy.ts';
import { representationOf } from '../kinds/representation.ts';
import { resourceIn, withReferences } from '../kinds/rows.ts';
import { withheldTargets } from '../kinds/targets.ts';
import { demandSource, isPresent, type Row, sourcesOf } from '../rows/sources.ts';
import type { Kind } from './aggregates.ts';
import { isSeenNowBy } from './auditor.ts';
import type { Past } from './past.ts';
import { withheldNow } from './withheld.ts';

/** A former state in its current representation. */
type Shown = {
  readonly version: number | undefined;
  readonly item: { readonly _links: Readonly<Record<string, Link>> };
  /** The facts that the right to read it depended on. */
  readonly resource: Resource;
};

/** Represents a former row; undefined for rows that were never shown. */
type Present = (past: Past, row: Row, caller: Caller) => Promise<Shown | undefined>;

export const presentOf = (domain: Domain, kind: Kind): Present => {
  const source = demandSource(sourcesOf(domain), kind);
  const representation = source.kind.isManaged ? undefined : representationOf(domain, source);
  return async (past, row, caller) => {
    const { identity, row: find, representManaged } = past;
    if (!isPresent(source, row)) return undefined;
    const found = await withReferences(source, row, (target, id) => find<Row>(target.name, id));
    if (!found) return undefined;
    const whole = { ...found, ...(await withheldTargets(source, found, isSeenNowBy(past, caller))) };
    const resource = resourceIn(source, whole);
    if (!representation) {
      if (!representManaged) throw new Error(`${kind} is represented by its part, which is not open`);
      return {
        version: whole.version,
        item: representManaged(whole, { domain, caller, identity }),
        resource,
      };
    }
    const withheld = await withheldNow(past, source, { caller, id: whole.id });
    const { represent, versionOf } = representation.to(caller, withheld);
    return { version: versionOf(whole), item: represent(whole), resource };
  };
};
