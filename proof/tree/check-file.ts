import { type CheckedConsistency, checkConsistency } from './consistency-file.ts';
import { type CheckedItem, checkItemProof, isItemProof } from './item-file.ts';
import { keyIdOf, type NoteKey } from './note.ts';
import { type Checked, checkProof, type Step } from './proof-file.ts';
import type { RecordedInProof } from './recorded-in-proof.ts';
import type { CheckCosignatures, Signatures, TrustedKey } from './signatures.ts';

/** Checks any file that the log gives, and says in sentences what it shows. The page in a browser says the same. */
export type Verdict = {
  readonly isProven: boolean;
  /** The proven fact, or why nothing is proven. */
  readonly sentence: string;
  readonly steps: readonly { readonly says: string; readonly isRight: boolean }[];
  /** The contents, in lines. */
  readonly details: readonly string[];
  /** The facts that it does not show. */
  readonly remarks: readonly string[];
  readonly json: object;
  /** Of an event: its checkpoint, and the time stamp over that, which is checked apart. */
  readonly file?: { readonly note: string; readonly timestamp?: Buffer };
};

type Kept = {
  /** An older checkpoint. */
  readonly kept?: string | undefined;
  readonly cosignatures?: CheckCosignatures | undefined;
};

export const checkFile = (
  text: string,
  trusted: readonly TrustedKey[],
  { kept, cosignatures }: Kept = {},
): Verdict => {
  if (kept !== undefined) return ofConsistency(checkConsistency(text, kept, trusted, cosignatures));
  return isItemProof(text)
    ? ofItem(checkItemProof(text, trusted, cosignatures))
    : ofEvent(checkProof(text, trusted, cosignatures));
};

type Says = Readonly<Record<Step, string>>;
const STEPS: readonly Step[] = ['file', 'key', 'events', 'tree'];

const refused = (
  { failed, reason }: { readonly failed: Step; readonly reason: string },
  says: Says,
): Verdict => ({
  isProven: false,
  sentence: reason,
  steps: [
    ...STEPS.slice(0, STEPS.indexOf(failed)).map((step) => ({ says: says[step], isRight: true })),
    { says: reason, isRight: false },
  ],
  details: [],
  remarks: [],
  json: { isProven: false, reason },
});

const right = (says: Says): Verdict['steps'] => STEPS.map((step) => ({ says: says[step], isRight: true }));

const FILE_IS_WHOLE = 'The file is complete.';
const signed = 'The checkpoint is signed by the given key.';

const ofEvent = (checked: Checked): Verdict => {
  const says: Says = {
    file: FILE_IS_WHOLE,
    key: signed,
    events: 'It has an event of Annals.',
    tree: 'The log has this event in this place.',
  };
  if (!checked.isProven) return refused(checked, says);
  const { event, index, checkpoint, key } = checked;
  const { origin, size, root } = checkpoint;
  return {
    isProven: true,
    sentence: `the log ${origin} has this event, in place ${index + 1} of ${size}.`,
    steps: right({ ...says, key: signedBy(key) }),
    details: [
      `${event.type}, version ${event.version} of ${event.stream}, ${event.id}`,
      `Recorded at ${String(event.metadata.at)} by ${String(event.metadata.actor)}, as the log says.`,
      JSON.stringify(shown(event.data)),
      ...witnessesOf(checked, 'this event'),
    ],
    file: checked.file,
    remarks: remarksOn(checked),
    json: {
      ...{ isProven: true, event, index, checkpoint: { origin, size, root: root.toString('base64') } },
      ...witnessedIn(checked),
    },
  };
};

const signedBy = (key: NoteKey): string =>
  `The checkpoint is signed by the key ${keyIdOf(key).toString('hex')} of ${key.name}.`;

const ofItem = (checked: CheckedItem): Verdict => {
  const says: Says = {
    file: FILE_IS_WHOLE,
    key: signed,
    events: 'The versions begin with 1, and none is missing between them.',
    tree: 'The log has all of these events in these places.',
  };
  if (!checked.isProven) return refused(checked, says);
  const { stream, events, indices, facts, checkpoint, key } = checked;
  const { origin, size, root } = checkpoint;
  const count = events.length;
  return {
    isProven: true,
    sentence:
      count === 1
        ? `${stream}: 1 event, version 1, in the log ${origin} as of entry ${size}, signed by the key ${keyIdOf(key).toString('hex')}.`
        : `${stream}: ${count} events, versions 1 to ${count}, in the log ${origin} as of entry ${size}, signed by the key ${keyIdOf(key).toString('hex')}.`,
    steps: right({ ...says, key: signedBy(key) }),
    details: [
      ...events.map(lineOf),
      'Last recorded, by name:',
      ...facts.map(
        ({ name, value, version }) =>
          `${name}: ${JSON.stringify(name === 'personal' ? SEALED : value)} (version ${version})`,
      ),
      ...witnessesOf(checked, 'these events'),
    ],
    remarks: [
      `It does not show that version ${count} is the newest.`,
      'It does not show that the log has no second event with the same version.',
      ...remarksOn(checked),
    ],
    json: {
      isProven: true,
      stream,
      events,
      indices,
      facts,
      checkpoint: { origin, size, root: root.toString('base64') },
      ...witnessedIn(checked),
    },
  };
};

const lineOf = ({ version, type, id, metadata, data }: RecordedInProof): string =>
  `${version}. ${type}, ${id}, at ${String(metadata.at)} by ${String(metadata.actor)}: ${JSON.stringify(shown(data))}`;

/** Sealed personal fields mean nothing to people. Programs get all that was recorded. */
const shown = (data: RecordedInProof['data']): RecordedInProof['data'] =>
  'personal' in data ? { ...data, personal: SEALED } : data;
const SEALED = '[sealed]';

const ofConsistency = (checked: CheckedConsistency): Verdict => {
  const says: Says = {
    file: FILE_IS_WHOLE,
    key: 'Both checkpoints are signed by the given key.',
    events: 'Both are of the same log, and the kept one is not the newer one.',
    tree: 'The log begins with all entries of the kept checkpoint.',
  };
  if (!checked.isProven) return refused(checked, says);
  const { former, checkpoint, key } = checked;
  const { origin, size, root } = checkpoint;
  return {
    isProven: true,
    sentence: `the log ${origin} only grew from entry ${former.size} to entry ${size}: it still begins with all entries of the kept checkpoint, signed by the key ${keyIdOf(key).toString('hex')}.`,
    steps: right(says),
    details: [...witnessesOf(checked, 'these entries')],
    remarks: remarksOn(checked),
    json: {
      isProven: true,
      former: { size: former.size, root: former.root.toString('base64') },
      checkpoint: { origin, size, root: root.toString('base64') },
      ...witnessedIn(checked),
    },
  };
};

const witnessesOf = ({ witnessed }: Signatures, what: string): readonly string[] => [
  ...(witnessed?.cosigned.map(({ name, key, at }) => `Witnessed by ${name} (${key}) at ${at}.`) ?? []),
  ...(witnessed?.by ? [`So the log had ${what} at ${witnessed.by} at the latest.`] : []),
];

const remarksOn = ({ foreign }: Signatures): readonly string[] =>
  foreign.length === 0
    ? []
    : [`${foreign.join(', ')} have signed the checkpoint too: a policy says whom you trust.`];

const witnessedIn = ({ witnessed }: Signatures) => witnessed && { witnessed };
