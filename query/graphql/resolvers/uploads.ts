import { factsOfFile } from '#kernel/base/file-address.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import type { UploadField } from '#kernel/decide/upload-fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import { fileTypeOfPart, receiveFile } from '#shared/blobs/incoming-file.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import type { Command } from '#shared/commands/command.ts';
import type { Member } from '../../rows/source.ts';
import { signAddress } from '../../uploads/signed-address.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context, Resolver } from './context.ts';

type Uploading = {
  readonly kind: Kind;
  /** The field that gets the file. */
  readonly upload: UploadField;
  readonly id: number;
  /** The key of the item in a list. */
  readonly itemId: number | string | undefined;
  readonly file: Upload;
  readonly ifVersion: unknown;
  readonly reason: unknown;
  readonly field: string;
};

/** Stores the file and sets the field to it; returns the id of the aggregate. */
export const sendFile = async ({ blobs, check, send }: Context, uploading: Uploading): Promise<number> => {
  const { file, ifVersion, reason, field, upload } = uploading;
  const edit = uploadCommand(uploading);
  const { accepts } = upload;
  const { id } = await setUpload({
    blobs,
    kind: uploading.kind,
    upload,
    id: uploading.id,
    check: () => check(edit, { ifVersion, reason }),
    receive: async () => {
      const { type, fileName, chunks } = await file.open();
      return { ...(await receiveFile(chunks, accepts, fileTypeOfPart(accepts, type))), name: fileName };
    },
    // Each file has a new name, so a repetition would never be the same request.
    change: (members) => send({ ...edit, ...members }, { field, ifVersion, reason, takesKey: false }),
  });
  return id;
};

/** The command that sets or removes a file, without its value. */
export const uploadCommand = ({
  kind,
  upload,
  id,
  itemId,
}: Pick<Uploading, 'kind' | 'upload' | 'id' | 'itemId'>): Command => ({
  type: typeOfCommand(kind, upload.command.name),
  [`${kind.name}Id`]: id,
  ...(upload.list !== undefined && { [upload.list.id.name]: itemId }),
});

/** A caller who may read the item may read its current picture, but not former ones. */
const addressOf =
  (column: string, of: string): Resolver =>
  (row: Readonly<Record<string, unknown>>, _args, { past, uploadKey }) => {
    const path = row[column];
    const name =
      typeof path !== 'string' || past !== undefined ? undefined : blobOfUpload(Number(row[of]), path);
    return name === undefined ? null : signAddress(uploadKey, name, factsOfFile(String(path)));
  };

/** The facts about a file, also of a former one. */
const factsOf =
  (column: string): Resolver =>
  (row: Readonly<Record<string, unknown>>) => {
    const address = row[column];
    return typeof address === 'string' ? (factsOfFile(address) ?? null) : null;
  };

/** The fields of GraphQL that derive from an upload, with their resolvers. */
export const uploadFieldsIn = (
  members: readonly Pick<Member, 'name' | 'def' | 'column'>[],
  of: string,
): readonly (readonly [string, Resolver])[] =>
  members.flatMap(({ name, def, column }) => [
    ...(def.kind === 'upload' ? [[`${name}Address`, addressOf(column, of)] as const] : []),
    ...(isFileField(def) ? [[`${name}Details`, factsOf(column)] as const] : []),
  ]);
