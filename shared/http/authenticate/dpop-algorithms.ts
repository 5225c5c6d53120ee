/** Asymmetric, and quick to verify; the authorization server takes the same. */
export const DPOP_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'] as const;
