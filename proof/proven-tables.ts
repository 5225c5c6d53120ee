import type { Tables } from '#shared/read-model/tables.ts';
import { BOOKKEEPING } from './verify/compare-live.ts';

/**
 * The tables in which `audit verify` finds every row that does not follow from the log, beside those of the
 * read model. docs/audit.md names all others, with reasons; a test demands that no table is forgotten.
 */
export const PROVEN_TABLES = [
  'event_log.event',
  'audit.block',
  'audit.head',
  'audit.tile',
  'audit.tree_head',
  'event_index.event',
  'event_index.moment',
  'webhook_ledger.endpoint',
  'webhook_ledger.message',
  'process_manager.member',
  'process_manager.deleted_parent',
  'process_manager.reference',
  'process_manager.ended',
  'process_manager.timer',
  'snapshots.fold',
  'public.projection_skip',
  'public.person_key',
  'read_log.entry',
  'read_log.head',
  'read_log.signed_head',
] as const;

/** The same of the read model, by their names within it. */
export const provenOfReadModel = ({ ofStreams, views }: Tables): readonly string[] => [
  ...[...ofStreams, ...views].map(({ name }) => name),
  ...BOOKKEEPING,
  'digest',
];
