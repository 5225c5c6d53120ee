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
  /** Which field is given the picture. */
  readonly upload: UploadField;
  readonly id: number;
  /** Of the item of a list. */
  readonly itemId: number | string | undefined;
  readonly file: Upload;
  readonly ifVersion: unknown;
  readonly field: string;
};

/** Keeps the picture, and gives it to the item; answers with the id of the aggregate. */
export const sendPicture = async ({ blobs, check, send }: Context, picturing: Picturing): Promise<number> => {
  const { file, ifVersion, field, upload } = picturing;
  const edit = uploadCommand(picturing);
  const { id } = await setUpload({
    blobs,
    id: picturing.id,
    check: () => check(edit, ifVersion),
    receive: () => receive(file),
    // The name of the picture is another each time, so that no repetition would be the same request.
    change: (path) => send({ ...edit, [upload.name]: path }, { field, ifVersion, takesKey: false }),
  });
  return id;
};

/** The command that gives a field its file, or takes it away, without what it is. */
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

/** Whoever may read the item as it is may read the picture that it has, but not one that it had. */
export const addressOf =
  (column: string, of: string): Resolver =>
  (row: Readonly<Record<string, unknown>>, _args, { past, uploadKey }) => {
    const path = row[column];
    const name =
      typeof path !== 'string' || past !== undefined ? undefined : blobOfUpload(Number(row[of]), path);
    return name === undefined ? null : signAddress(uploadKey, name);
  };
