import type { Command } from '#kernel/decide/decide.ts';
import type { Look } from '#kernel/decide/guards.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { Sent } from '../handling/execution-context.ts';
import type { HandlerDependencies, Outcome } from '../handling/handler.ts';
import type { DemandReferences } from './demand-references.ts';
import type { ReadReferences } from './read-references.ts';
import type { RulesOf } from './rules.ts';
import type { ReadTarget } from './several.ts';

/** The dependencies of commands to aggregates. */
export type Parts = Pick<HandlerDependencies, 'executor' | 'states' | 'log' | 'limits'> & {
  readonly domain: Domain;
  readonly rules: RulesOf;
  readonly readReferences: ReadReferences;
  readonly readTarget: ReadTarget;
  readonly demandReferences: DemandReferences;
};
export type Handle = (command: Command, sent: Sent) => Promise<Outcome>;
/** An existing or new aggregate for which a right is checked. */
export type Asked = { readonly kind: Kind; readonly fields: Row; readonly look: Look };
