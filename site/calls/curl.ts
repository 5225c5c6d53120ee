import { nameToSave } from '#kernel/base/file-type.ts';
import { type Call, pathOf } from './filling.ts';

/** The request with curl, with the reader’s token in `$TOKEN`. */
export const curlOf = (call: Call): string => {
  const { operation, origin, body, mediaType, needsToken } = call;
  const method = operation.method.toUpperCase();
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const isFile = mediaType !== undefined && body === undefined;
  return [
    `curl ${isImplied ? '' : `-X ${method} `}${origin}${pathOf(call)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(mediaType === undefined ? [] : [`-H 'Content-Type: ${mediaType}'`]),
    ...(body === undefined ? [] : [`-d '${quoted(JSON.stringify(body))}'`]),
    ...(isFile ? [`--data-binary @${nameOfFile(mediaType)}`] : []),
  ].join(' \\\n  ');
};

const nameOfFile = (type: string): string =>
  type.startsWith('image/') ? 'picture.png' : nameToSave({ type, name: null });

/** Escapes text within the single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", "'\\''");
