/** The body of an upload while it arrives. */
export type IncomingBody = {
  readonly chunks: AsyncGenerator<Uint8Array, void, undefined>;
  /** Rethrows the failure of the body, if the body failed rather than the storage. */
  throwIfFailed(): void;
};

/**
 * Watches a body on its way: it also fails if its length is wrong, so that no part of a file is taken for the
 * whole.
 */
export const receive = (body: AsyncIterable<Uint8Array>, bytes: number | undefined): IncomingBody => {
  let failure: { readonly error: unknown } | undefined;
  const watch = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* counted(body, bytes);
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  return {
    chunks: watch(),
    throwIfFailed: () => {
      if (failure) throw failure.error;
    },
  };
};

const counted = async function* (
  body: AsyncIterable<Uint8Array>,
  bytes: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  for await (const chunk of body) {
    received += chunk.byteLength;
    if (bytes !== undefined && received > bytes)
      throw new RangeError(`the body has more than the announced ${bytes} bytes`);
    yield chunk;
  }
  if (bytes !== undefined && received !== bytes)
    throw new RangeError(`the body has ${received} bytes instead of the announced ${bytes}`);
};
