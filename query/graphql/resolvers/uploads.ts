import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { type Picture, pictureTypeOfPart, receivePicture } from '#shared/blobs/picture.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context } from './context.ts';

type Picturing = {
  readonly kind: Kind;
  readonly edit: CommandInfo;
  /** Which field is given the picture. */
  readonly name: string;
  readonly id: number;
  readonly file: Upload;
  readonly ifVersion: unknown;
  readonly field: string;
};

/** Keeps the picture, and gives it to the item; answers with the id of the item. */
export const sendPicture = async ({ blobs, check, send }: Context, picturing: Picturing): Promise<number> => {
  const { kind, name, file, ifVersion, field } = picturing;
  const edit = { type: typeOfCommand(kind, picturing.edit.name), [`${kind.name}Id`]: picturing.id };
  const { id } = await setUpload({
    blobs,
    id: picturing.id,
    check: () => check(edit, ifVersion),
    receive: () => receive(file),
    // The name of the picture is another each time, so that no repetition would be the same request.
    change: (path) => send({ ...edit, [name]: path }, { field, ifVersion, takesKey: false }),
  });
  return id;
};

const receive = async (file: Upload): Promise<Picture> => {
  const { type, chunks } = await file.open();
  return receivePicture(chunks, pictureTypeOfPart(type));
};
