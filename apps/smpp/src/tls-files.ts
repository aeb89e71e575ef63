import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { ConfiguredCertificates } from '@gateway/server'
import type { TlsSettings } from './session/listen.ts'
import type { SmppEnvironment } from './variables.ts'

interface TlsLog {
  info(message: string): void
  error(fields: object, message: string): void
}

/** Milliseconds between two checks of the files of the certificate. */
const checkMilliseconds = 30_000

/** Certificate of the SMPP server, read from its files. */
export interface TlsFiles {
  current(): TlsSettings
  /** The certificate, for warnings before it expires. */
  certificates(): readonly ConfiguredCertificates[]
  /** Calls `changed` when the files contain a different, usable certificate. Logs a certificate that cannot be used. */
  follow(changed: (tls: TlsSettings) => void): { stop: () => void }
}

/** Reads the files, or returns undefined if none are configured. Throws an Error for people if they cannot be used. */
export function tlsFiles(
  { SMPP_TLS_CERT: certFile, SMPP_TLS_KEY: keyFile }: Pick<SmppEnvironment, 'SMPP_TLS_CERT' | 'SMPP_TLS_KEY'>,
  log: TlsLog,
  everyMilliseconds = checkMilliseconds,
): TlsFiles | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new Error('SMPP_TLS_CERT and SMPP_TLS_KEY are needed together')
  let current = read(certFile, keyFile)
  return {
    current: () => current,
    certificates: () => [{ of: 'SMPP_TLS_CERT', are: 'chain', pem: current.cert }],
    follow(changed) {
      let rejected = ''
      const timer = setInterval(() => {
        try {
          const next = read(certFile, keyFile)
          if (next.cert === current.cert && next.key === current.key) return
          changed(next)
          current = next
          log.info('the SMPP server uses a new certificate')
        } catch (error) {
          const { message } = error as Error
          // Certificate and key are replaced one after the other, so they may not match for a moment.
          if (message !== rejected)
            log.error(
              { reason: message },
              'the new certificate of the SMPP server cannot be used; the previous one stays in use',
            )
          rejected = message
        }
      }, everyMilliseconds).unref()
      return { stop: () => clearInterval(timer) }
    },
  }
}

function read(certFile: string, keyFile: string): TlsSettings {
  const tls = { cert: textOf('SMPP_TLS_CERT', certFile), key: textOf('SMPP_TLS_KEY', keyFile) }
  try {
    createSecureContext(tls)
  } catch (cause) {
    throw new Error(`SMPP_TLS_CERT and SMPP_TLS_KEY cannot be used: ${(cause as Error).message}`, { cause })
  }
  return tls
}

function textOf(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`${setting}: ${file} cannot be read`, { cause })
  }
}
