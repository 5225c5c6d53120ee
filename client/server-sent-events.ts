type Message = {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
};

/** Annals sends no longer messages. */
const MESSAGE_CHARACTERS_MAX = 4_000_000;

/**
 * Parses server-sent events (HTML, 9.2.6). A message is complete only with its empty line: an incomplete one
 * is sent again.
 */
export async function* messagesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line break.
    const isHalf = text.endsWith('\r');
    const lines = (isHalf ? text.slice(0, -1) : text).replaceAll(/\r\n?/g, '\n').split('\n\n');
    rest = `${lines.pop() ?? ''}${isHalf ? '\r' : ''}`;
    if (rest.length > MESSAGE_CHARACTERS_MAX) throw new RangeError('a message of the stream is too long');
    for (const lined of lines) yield messageOf(lined.split('\n'));
  }
}

const messageOf = (lines: readonly string[]): Message => {
  const values = (field: string): readonly string[] =>
    lines.flatMap((line) =>
      line === field
        ? ['']
        : line.startsWith(`${field}:`)
          ? [line.slice(field.length + 1).replace(/^ /, '')]
          : [],
    );
  const retry = values('retry').at(-1);
  return {
    event: values('event').at(-1) ?? 'message',
    data: values('data').join('\n'),
    id: values('id').at(-1),
    retryMs: retry !== undefined && /^\d+$/.test(retry) ? Number(retry) : undefined,
  };
};
