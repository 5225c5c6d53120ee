/** The parts of its own grants that oidc-provider 9 has without types: a grant of ours is checked as they are. */
declare module 'oidc-provider/lib/helpers/grants.js' {
  import type { X509Certificate } from 'node:crypto';
  import type { KoaContextWithOIDC, Provider, ResourceServerInstance } from 'oidc-provider';

  type Proof = { readonly thumbprint: string; readonly jti: string };
  type Helper<Given extends readonly unknown[], Result> = (
    provider: Provider,
    ctx: KoaContextWithOIDC,
    ...given: Given
  ) => Result;

  export const validateDpop: Helper<[], Promise<Proof | undefined>>;
  export const checkDpopReplay: Helper<[proof: Proof | undefined, clientId: string], Promise<void>>;
  export const checkDpopRequired: Helper<[proof: Proof | undefined], void>;
  export const checkMtlsCert: Helper<[], X509Certificate | undefined>;
  export const resolveRequestedResources: Helper<[], Promise<readonly ResourceServerInstance[]>>;
}
