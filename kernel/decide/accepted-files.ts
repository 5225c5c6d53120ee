import { IMAGE_TYPES, PICTURE_BYTES_MAX } from '../base/image-type.ts';
import type { FieldDef, FileLimits } from '../declare/fields.ts';

/**
 * The member of a command by which an upload says that it has stored the file of this field. No form has it, so
 * that no client can claim facts about a file; no field can have its name.
 */
export const STORED = '_stored';

export type Accepted = FileLimits & {
  /** Pictures are shown by browsers, and their addresses state no facts. */
  readonly isPicture: boolean;
};

const PICTURES: Accepted = { types: IMAGE_TYPES, bytesMax: PICTURE_BYTES_MAX, isPicture: true };

export const acceptedBy = ({ file }: FieldDef): Accepted =>
  file === undefined ? PICTURES : { ...file, isPicture: false };

/** A field whose values are addresses of files with their facts. */
export const isFileField = (def: FieldDef | undefined): boolean =>
  def?.kind === 'upload' && def.file !== undefined;
