import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { SmppSettings } from '../settings.ts'

/**
 * Opens a connection. `ready` is called once bytes may be sent; over TLS, once the carrier's certificate was verified.
 */
export function connect({ host, port, tls }: Pick<SmppSettings, 'host' | 'port' | 'tls'>, ready: () => void): Socket {
  if (tls === undefined) return connectTcp({ host, port, noDelay: true }, ready)
  const { serverName = isIP(host) === 0 ? host : undefined, ca, cert, key } = tls
  const options = { host, port, minVersion: 'TLSv1.2' as const, servername: serverName ?? '', ca, cert, key }
  const socket = connectTls(options, ready)
  socket.setNoDelay(true)
  return socket
}

/** Explanations of Node's TLS error codes for operators, with the setting that helps. */
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

/** Describes why a connection could not be made, or broke: an explanation, and Node's code or message. */
export function connectionProblem(problem: Error & { readonly code?: string }): string {
  const words = problem.code === undefined ? undefined : WORDS[problem.code]
  return words === undefined ? problem.message : `${words}: ${problem.code}`
}
