import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { asyncApiDocument } from '../query/asyncapi/document.ts';
import { eventTypesOf } from '../query/event-types/event-types.ts';
import { yamlOf } from '../query/openapi/yaml.ts';
import { installAsyncApiParser } from './engines/asyncapi-parser.ts';

const test = base.extend('parse', { scope: 'file' }, () => installAsyncApiParser());

const OPTIONS = { publicUrl: 'https://annals.example/base', issuerUrl: 'https://issuer.example' };
/** The parser prefers a version that changes nothing here. */
const NEWER_VERSION = 'asyncapi-latest-version';

test.for<[string, Domain]>([
  ['publishing', publishing],
  ['expenses', expenses],
])(
  'the parser of AsyncAPI finds nothing wrong with the document of %s',
  async ([_name, domain], { parse }) => {
    const document = asyncApiDocument({ ...OPTIONS, domain });
    for (const text of [JSON.stringify(document), yamlOf(document)]) {
      const { diagnostics, messages } = await parse(text);
      expect(diagnostics.filter(({ code }) => code !== NEWER_VERSION)).toEqual([]);
      expect(messages).toEqual(expect.arrayContaining(eventTypesOf(domain).map(({ type }) => type)));
    }
  },
);
