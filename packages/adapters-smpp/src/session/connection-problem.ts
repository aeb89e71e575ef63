/** What Node's codes of a TLS connection mean to an operator, with the setting that helps. */
const WORDS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: "the carrier's certificate is of an unknown authority (ca)",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_GET_ISSUER_CERT: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the carrier's certificate is of an unknown authority (ca)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the carrier's certificate is of an unknown authority (ca)",
  ERR_TLS_CERT_ALTNAME_INVALID: "the carrier's certificate is for another name (serverName)",
  CERT_HAS_EXPIRED: "the carrier's certificate has expired",
  CERT_NOT_YET_VALID: "the carrier's certificate is not valid yet",
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the carrier wants a certificate of ours (cert, key)',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'the carrier does not know the authority of our certificate (cert)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the carrier does not speak TLS at this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the carrier does not speak TLS at this port',
}

/** Why a connection could not be made, or broke: in words, and as Node says it. */
export function connectionProblem(problem: Error & { readonly code?: string }): string {
  const words = problem.code === undefined ? undefined : WORDS[problem.code]
  return words === undefined ? problem.message : `${words}: ${problem.code}`
}
