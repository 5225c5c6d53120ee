import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { UploadField } from '#kernel/decide/upload-fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import { type Picture, pictureTypeOfPart, receivePicture } from '#shared/blobs/picture.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import type { Command } from '#shared/commands/command.ts';
import { signAddress } from '../../uploads/signed-address.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context, Resolver } from './context.ts';

type Picturing = {
  readonly kind: Kind;
  /** The field that gets the picture. */
  readonly upload: UploadField;
  readonly id: number;
  /** The key of the item in a list. */
  readonly itemId: number | string | undefined;
  readonly file: Upload;
  readonly ifVersion: unknown;
  readonly field: string;
};

/** Stores the picture and sets the field to it; returns the id of the aggregate. */
export const sendPicture = async ({ blobs, check, send }: Context, picturing: Picturing): Promise<number> => {
  const { file, ifVersion, field, upload } = picturing;
  const edit = uploadCommand(picturing);
  const { id } = await setUpload({
    blobs,
    id: picturing.id,
    check: () => check(edit, ifVersion),
    receive: () => receive(file),
    // Each picture has a new name, so a repetition would never be the same request.
    change: (path) => send({ ...edit, [upload.name]: path }, { field, ifVersion, takesKey: false }),
  });
  return id;
};

/** The command that sets or removes a file, without its value. */
export const uploadCommand = ({
  kind,
  upload,
  id,
  itemId,
}: Pick<Picturing, 'kind' | 'upload' | 'id' | 'itemId'>): Command => ({
  type: typeOfCommand(kind, upload.command.name),
  [`${kind.name}Id`]: id,
  ...(upload.list !== undefined && { [upload.list.id.name]: itemId }),
});

const receive = async (file: Upload): Promise<Picture> => {
  const { type, chunks } = await file.open();
  return receivePicture(chunks, pictureTypeOfPart(type));
};

/** A caller who may read the item may read its current picture, but not former ones. */
export const addressOf =
  (column: string, of: string): Resolver =>
  (row: Readonly<Record<string, unknown>>, _args, { past, uploadKey }) => {
    const path = row[column];
    const name =
      typeof path !== 'string' || past !== undefined ? undefined : blobOfUpload(Number(row[of]), path);
    return name === undefined ? null : signAddress(uploadKey, name);
  };
