import type { Scan } from '#kernel/base/scan.ts';

/** Sends each new file to a scanner, which answers that it is clean, or anything else. */
export const scan: Scan = async ({ type, bytes, sha256, name, content, signal }) => {
  const url = `${process.env.SCANNER_URL}?${new URLSearchParams({ type, bytes: String(bytes), sha256 })}`;
  const body = ReadableStream.from(content);
  const answer = await fetch(url, { method: 'POST', body, duplex: 'half', signal });
  if (!answer.ok) throw new Error(`the scanner answers ${answer.status}`);
  return (await answer.text()) === 'clean' ? undefined : `${name ?? 'The file'} was refused by the scanner.`;
};
