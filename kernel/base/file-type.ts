import { HEAD_BYTES, IMAGE_TYPES, imageTypeOf } from './image-type.ts';

/** The first bytes of files of some types, and the usual endings of their names. */
type Known = {
  readonly types: readonly string[];
  readonly endings: readonly string[];
  /** Of a container, whose types share their first bytes with types that nobody has listed. */
  readonly isContainer?: true;
  matches(head: string, bytes: Uint8Array): boolean;
};

const startsWith =
  (...starts: readonly string[]) =>
  (head: string): boolean =>
    starts.some((start) => head.startsWith(start));

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const isMedia = (head: string): boolean => head.slice(4, 8) === 'ftyp';

const SIGNATURES: readonly Known[] = [
  ...IMAGE_TYPES.map(
    (type): Known => ({
      types: [type],
      endings: type === 'image/jpeg' ? ['.jpg', '.jpeg'] : [`.${type.slice('image/'.length)}`],
      matches: (_, bytes) => imageTypeOf(bytes) === type,
    }),
  ),
  { types: ['application/pdf'], endings: ['.pdf'], matches: startsWith('%PDF-') },
  {
    types: ['image/heic', 'image/heif'],
    endings: ['.heic', '.heif'],
    matches: (head) => isMedia(head) && /^(?:hei|hev|mif1|msf1)/.test(head.slice(8)),
  },
  { types: ['image/tiff'], endings: ['.tif', '.tiff'], matches: startsWith('II*\0', 'MM\0*') },
  { types: ['image/bmp'], endings: ['.bmp'], matches: (head) => /^BM.{4}\0{4}/s.test(head) },
  {
    types: ['video/mp4', 'audio/mp4', 'video/quicktime'],
    endings: ['.mp4', '.m4a', '.m4v', '.mov'],
    isContainer: true,
    matches: isMedia,
  },
  {
    types: ['video/webm', 'audio/webm', 'video/x-matroska'],
    endings: ['.webm', '.mkv'],
    matches: startsWith('\x1aE\xdf\xa3'),
  },
  {
    types: ['audio/mpeg'],
    endings: ['.mp3'],
    matches: (head) => head.startsWith('ID3') || /^\xff[\xe2-\xff]/.test(head),
  },
  { types: ['audio/ogg', 'video/ogg'], endings: ['.ogg', '.oga', '.ogv'], matches: startsWith('OggS') },
  { types: ['audio/flac'], endings: ['.flac'], matches: startsWith('fLaC') },
  {
    types: ['audio/wav', 'audio/x-wav'],
    endings: ['.wav'],
    matches: (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WAVE',
  },
  { types: ['application/rtf', 'text/rtf'], endings: ['.rtf'], matches: startsWith('{\\rtf') },
  { types: ['application/gzip'], endings: ['.gz', '.tgz'], matches: startsWith('\x1f\x8b') },
  {
    types: ['application/x-7z-compressed'],
    endings: ['.7z'],
    matches: startsWith("7z\xbc\xaf'\x1c"),
  },
  ...[
    [`${OFFICE}.wordprocessingml.document`, '.docx'],
    [`${OFFICE}.spreadsheetml.sheet`, '.xlsx'],
    [`${OFFICE}.presentationml.presentation`, '.pptx'],
    ['application/vnd.oasis.opendocument.text', '.odt'],
    ['application/vnd.oasis.opendocument.spreadsheet', '.ods'],
    ['application/vnd.oasis.opendocument.presentation', '.odp'],
    ['application/epub+zip', '.epub'],
    ['application/zip', '.zip'],
  ].map(
    ([type = '', ending = '']): Known => ({
      types: [type],
      endings: [ending],
      isContainer: true,
      matches: startsWith('PK\x03\x04', 'PK\x05\x06'),
    }),
  ),
  ...[
    ['application/msword', '.doc'],
    ['application/vnd.ms-excel', '.xls'],
    ['application/vnd.ms-powerpoint', '.ppt'],
    ['application/vnd.ms-outlook', '.msg'],
  ].map(
    ([type = '', ending = '']): Known => ({
      types: [type],
      endings: [ending],
      isContainer: true,
      matches: startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
    }),
  ),
];

/** Endings of types without a signature. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  'text/plain': ['.txt', '.log', '.md'],
  'text/csv': ['.csv'],
  'text/markdown': ['.md', '.markdown'],
  'text/html': ['.html', '.htm'],
  'text/calendar': ['.ics'],
  'text/xml': ['.xml'],
  'application/xml': ['.xml'],
  'application/json': ['.json'],
  'image/svg+xml': ['.svg'],
};

const knownAs = (type: string): Known | undefined => SIGNATURES.find(({ types }) => types.includes(type));

const latin1 = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES)).toString('latin1');

/** Whether a type is known by the first bytes of its files. */
export const hasSignature = (type: string): boolean => knownAs(type) !== undefined;

/**
 * Whether the first bytes of a file fit the type that its sender calls it: the signature, if the type has one,
 * otherwise that of no other type. A text contains no zero.
 */
export const fitsType = (type: string, head: Uint8Array): boolean => {
  const text = latin1(head);
  const known = knownAs(type);
  if (known !== undefined) return known.matches(text, head);
  if (type === ANYTHING) return true;
  if (isText(type) && text.includes('\0')) return false;
  return !SIGNATURES.some((each) => (each.isContainer !== true || isText(type)) && each.matches(text, head));
};

const ANYTHING = 'application/octet-stream';

const isText = (type: string): boolean =>
  type.startsWith('text/') || type in ENDINGS || /[+/](?:json|xml)$/.test(type);

/** The usual endings of file names of a type; none if it is not known. */
const endingsOf = (type: string): readonly string[] => knownAs(type)?.endings ?? ENDINGS[type] ?? [];

/**
 * The name under which a browser saves a file: its own, with an ending of its type, so that a file that was
 * accepted as a PDF is not saved as a program.
 */
export const nameToSave = ({
  type,
  name,
}: {
  readonly type: string;
  readonly name: string | null;
}): string => {
  const endings = endingsOf(type);
  const [first = ''] = endings;
  if (name === null) return `file${first}`;
  const lower = name.toLowerCase();
  return endings.length === 0 || endings.some((ending) => lower.endsWith(ending)) ? name : `${name}${first}`;
};
