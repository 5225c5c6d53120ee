import { type Picture, pictureTypeOfPart, receivePicture } from '#shared/blobs/picture.ts';
import { setUpload } from '#shared/blobs/set-upload.ts';
import type { ArticleId } from '#shared/brands.ts';
import type { Upload } from '../uploads/upload.ts';
import type { Context } from './context.ts';

type Cover = { readonly articleId: ArticleId; readonly file: Upload; readonly ifVersion: unknown; readonly field: string };

/** Keeps the picture, and makes it the cover of the article; answers with the id of the article. */
export const sendCover = async ({ blobs, check, send }: Context, { articleId, file, ifVersion, field }: Cover): Promise<number> => {
  const edit = { type: 'EditArticle', articleId } as const;
  const { id } = await setUpload({
    blobs,
    id: articleId,
    check: () => check(edit, ifVersion),
    receive: () => receive(file),
    // The name of the picture is another each time, so that no repetition would be the same request.
    change: (cover) => send({ ...edit, cover }, { field, ifVersion, takesKey: false }),
  });
  return id;
};

const receive = async (file: Upload): Promise<Picture> => {
  const { type, chunks } = await file.open();
  return receivePicture(chunks, pictureTypeOfPart(type));
};
