import { type BundledFiles, bundledFiles } from '#edge/pages/bundled.ts';

const NAMES = ['js', 'css', 'editorWorkerService', 'jsonWorker', 'graphqlWorker'] as const;

type Editor = BundledFiles<(typeof NAMES)[number]>;

/** GraphiQL: nine megabytes. */
export const readEditor = async (): Promise<Editor> =>
  bundledFiles('graphiql', NAMES) ?? (await editorOfPackage());

export const editorOfPackage = async (): Promise<Editor> => {
  const editor = await import('@graphql-yoga/render-graphiql/graphiql');
  return Object.fromEntries(NAMES.map((name) => [name, Buffer.from(editor[name])])) as Editor;
};
