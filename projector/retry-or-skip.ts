import {
  finishOperatorCommand,
  type Outcome,
  type TakenOperatorCommand,
} from '#process/operations/operator-commands.ts';
import { type Mending, type RecordMended, retry } from '#shared/projection/retry.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import type { Parked } from '#shared/read-model/parked.ts';

/**
 * The result is recorded in the same transaction: if the process dies, the command either has run and is
 * recorded, or starts again.
 */
export const retryOrSkip = async (mending: Mending, command: TakenOperatorCommand): Promise<void> => {
  const { kind, stream, version } = command;
  if (stream === null) throw new Error(`the operator command ${command.id} names no stream`);
  const record: RecordMended = (connection, parked) =>
    finishOperatorCommand(connection, command, outcomeOf(command, parked));
  if (kind === 'retry') await retry(mending, stream, record);
  else if (version !== null) await skipParked(mending, { stream, version }, record);
  else throw new Error(`the operator command ${command.id} names no version`);
};

const outcomeOf = ({ kind, stream, version }: TakenOperatorCommand, parked: Parked | undefined): Outcome => {
  const left = kind === 'release' ? `Version ${version} of ${stream} was skipped permanently. ` : '';
  if (!parked) return { state: 'done', outcome: `${left}${stream} is in the read model again.` };
  const { version: at, type, reason } = parked;
  // A skipped event stays skipped.
  return { state: 'failed', outcome: `${left}${stream} stays parked, by version ${at}, ${type}: ${reason}` };
};
