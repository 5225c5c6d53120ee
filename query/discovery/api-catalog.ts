import type { RequestHandler } from 'express';
import { answerDocument } from '#edge/pages/answer-document.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { API_CATALOG_PATH, type Api } from './api.ts';

const PROFILE = 'https://www.rfc-editor.org/info/rfc9727';

export type CatalogOptions = {
  readonly domain: Domain;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
  readonly issuerUrl: string;
  /** The interfaces of the parts. */
  readonly apis: readonly Api[];
};

const REST: Api = {
  path: '/',
  title: 'REST',
  descriptions: [
    { href: '/openapi.json', type: 'application/json', title: 'OpenAPI 3.1' },
    { href: '/openapi.yaml', type: 'application/yaml', title: 'OpenAPI 3.1 in YAML' },
    { href: '/asyncapi.json', type: 'application/json', title: 'AsyncAPI 3.0' },
    { href: '/asyncapi.yaml', type: 'application/yaml', title: 'AsyncAPI 3.0 in YAML' },
  ],
  page: '/docs/rest',
};

/** The interfaces of this installation, as a set of links (RFC 9727, with RFC 9264). */
export const apiCatalog = ({ domain, publicUrl, issuerUrl, apis }: CatalogOptions): JsonObject => {
  const base = publicUrl.replace(/\/$/, '');
  const all = [REST, ...apis];
  const access = [
    { href: `${base}/.well-known/oauth-protected-resource`, type: 'application/json' },
    ...(serves(domain, 'accounts')
      ? [
          {
            href: `${issuerUrl.replace(/\/$/, '')}/.well-known/oauth-authorization-server`,
            type: 'application/json',
          },
        ]
      : []),
  ];
  const linksOf = ({ path, descriptions = [], page }: Api): JsonObject => ({
    anchor: base + path,
    ...(descriptions.length > 0 && {
      'service-desc': descriptions.map(({ href, ...rest }) => ({ href: base + href, ...rest })),
    }),
    ...(page !== undefined &&
      serves(domain, 'docs') && {
        'service-doc': [{ href: base + page, type: 'text/html' }],
      }),
    'service-meta': [
      ...access,
      ...(path === REST.path ? [{ href: `${base}/event-types`, type: 'application/json' }] : []),
    ],
    status: [{ href: `${base}/readyz`, type: 'application/json' }],
  });
  return {
    linkset: [
      {
        anchor: base + API_CATALOG_PATH,
        item: all.map(({ path, title }) => ({ href: base + path, title })),
      },
      ...all.map(linksOf),
    ],
  };
};

/** The link lets a `HEAD` find the catalog (RFC 9727, section 2). */
export const answerApiCatalog = (options: CatalogOptions): RequestHandler =>
  answerDocument({
    type: `application/linkset+json; profile="${PROFILE}"`,
    text: JSON.stringify(apiCatalog(options)),
    headers: {
      Link: `<${options.publicUrl.replace(/\/$/, '')}${API_CATALOG_PATH}>; rel="api-catalog"; profile="${PROFILE}"`,
    },
  });
