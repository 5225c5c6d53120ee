import type { CommandInfo, Kind } from '../registry/registry.ts';

/** Whether callers must, or may, say why they send a command; undefined if it records no reason. */
export const reasonOf = (kind: Kind, { reason, next }: CommandInfo): CommandInfo['reason'] =>
  reason ?? (nextWithReason(kind, next).length > 0 ? 'optional' : undefined);

/** Whether this form needs a reason: its own command does, or one that it runs too. */
export const needsReason = (
  kind: Kind,
  { reason, next }: CommandInfo,
  form: Readonly<Record<string, unknown>>,
): boolean =>
  reason === 'required' ||
  nextWithReason(kind, next).some(({ name, reason: its }) => its === 'required' && form[name] === true);

const nextWithReason = (kind: Kind, next: readonly string[]): readonly CommandInfo[] =>
  next.flatMap((name) => kind.commands[name] ?? []).filter((command) => command.reason !== undefined);
