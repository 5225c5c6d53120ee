import { readFileSync } from 'node:fs';
import { type Asset, CSS, createAsset, JAVASCRIPT } from '#edge/pages/asset.ts';

/** Everything that the page loads: nothing comes from elsewhere. */
export type Assets = Readonly<
  Record<'bundle' | 'start' | 'theme' | 'style' | 'editorWorker' | 'jsonWorker' | 'graphqlWorker', Asset>
>;

const asset = (name: string, type: string, content: string | URL): Asset => {
  const bytes = content instanceof URL ? readFileSync(content) : Buffer.from(content);
  return createAsset('/graphql', name, { type, bytes });
};
const own = (name: string): URL => new URL(name, import.meta.url);

/** Nine megabytes, read when the first browser comes. */
export const readAssets = async (): Promise<Assets> => {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  return {
    bundle: asset('graphiql.js', JAVASCRIPT, graphiql.js),
    start: asset('start.js', JAVASCRIPT, own('./start.js')),
    theme: asset('graphiql.css', CSS, graphiql.css),
    style: asset('page.css', CSS, own('./page.css')),
    editorWorker: asset('editor-worker.js', JAVASCRIPT, graphiql.editorWorkerService),
    jsonWorker: asset('json-worker.js', JAVASCRIPT, graphiql.jsonWorker),
    graphqlWorker: asset('graphql-worker.js', JAVASCRIPT, graphiql.graphqlWorker),
  };
};
