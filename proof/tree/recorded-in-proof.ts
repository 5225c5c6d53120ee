/** An event as a proof has it: everything that was recorded, with personal fields still sealed. */
export type RecordedInProof = {
  readonly stream: string;
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Undefined if the text is no event. It is written without packages, because browsers run it too. */
export const parseRecorded = (text: string): RecordedInProof | undefined => {
  const read = parseObject(text);
  if (read === undefined) return undefined;
  const { stream, version, id, type, metadata, data } = read;
  return typeof stream === 'string' &&
    typeof version === 'number' &&
    Number.isSafeInteger(version) &&
    typeof id === 'string' &&
    typeof type === 'string' &&
    isObject(metadata) &&
    isObject(data)
    ? { ...read, stream, version, id, type, metadata, data }
    : undefined;
};

/** Undefined if the text is no JSON object. */
export const parseObject = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const read: unknown = JSON.parse(text);
    return isObject(read) ? read : undefined;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
