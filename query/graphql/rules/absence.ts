import { isAlwaysShown } from '#kernel/conditions/references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Member, Source } from '../../rows/source.ts';

/** True for a reference that may be null although it leads somewhere; its id is a field beside it. */
export const mayBeAbsent = (domain: Domain, { kind }: Pick<Source, 'kind'>, member: Member): boolean =>
  member.target !== undefined && !isAlwaysShown(domain, kind, member);
