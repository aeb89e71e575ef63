import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Certificates that a process was configured with. */
export interface ConfiguredCertificates {
  /**
   * Owner and setting of the certificates, such as `carrier mtn ca`. It is a metric label, so the set of values is
   * bounded.
   */
  readonly of: string
  /**
   * Kind of the certificates. A chain is valid until its first certificate expires. Authorities are valid until the
   * last one expires, because it is not known which of them is needed.
   */
  readonly are: 'chain' | 'authorities'
  /** One or more certificates in PEM. Unreadable ones are ignored, because TLS reports them. */
  readonly pem: string
}

export interface CertificateSettings {
  /** Returns the certificates in use. */
  readonly certificates: () => readonly ConfiguredCertificates[]
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly metrics: Pick<Metrics, 'gauge'>
  /** Returns the current time, in milliseconds since 1970. */
  readonly now: () => number
  readonly everyMilliseconds?: number
}

const dayMilliseconds = 86_400_000
const warnDays = 14

/** Warns at once and once a day of certificates that expire within 14 days, and registers a gauge of their expiry. */
export function watchCertificates({
  certificates,
  log,
  metrics,
  now,
  everyMilliseconds = dayMilliseconds,
}: CertificateSettings): { stop: () => void } {
  /** Parsed certificates by text, because parsing all authorities of a system takes 27 ms. */
  let read: ReadonlyMap<string, readonly Ending[]> = new Map()

  function endings() {
    const all = certificates().map((one) => ({ ...one, key: `${one.are} ${one.pem}` }))
    read = new Map(all.map((one) => [one.key, read.get(one.key) ?? endingIn(one)]))
    return all.flatMap(({ of, key }) => read.get(key)?.map((ending) => ({ of, ...ending })) ?? [])
  }

  function check(): void {
    for (const { of, subject, ends } of endings()) {
      const days = Math.floor((ends - now()) / dayMilliseconds)
      const fields = { certificate: of, subject, ends: new Date(ends).toISOString() }
      if (ends <= now()) log.error(fields, 'a certificate has expired')
      else if (days < warnDays) log.warn({ ...fields, days }, 'a certificate expires soon')
    }
  }

  metrics.gauge(
    'gateway_certificate_remaining_seconds',
    'Until a certificate that this process was given ends; negative: it has ended',
    ['certificate'],
    () => endings().map(({ of, ends }) => ({ labels: { certificate: of }, value: (ends - now()) / 1000 })),
  )
  check()
  const timer = setInterval(check, everyMilliseconds).unref()
  return { stop: () => clearInterval(timer) }
}

/** Returns the additional authorities that Node trusts, from the variable that Node reads itself. */
export function extraAuthorities(file = process.env['NODE_EXTRA_CA_CERTS']): readonly ConfiguredCertificates[] {
  if (file === undefined || file === '') return []
  try {
    return [{ of: 'NODE_EXTRA_CA_CERTS', are: 'authorities', pem: readFileSync(file, 'utf8') }]
  } catch {
    // Node itself warns of an unreadable file.
    return []
  }
}

/** Returns when the certificates expire, in milliseconds since 1970. */
export const certificateEndings = (
  certificates: readonly ConfiguredCertificates[],
): readonly (Ending & { readonly of: string })[] =>
  certificates.flatMap((one) => endingIn(one).map((ending) => ({ of: one.of, ...ending })))

export interface Ending {
  readonly subject: string
  readonly ends: number
}

const certificates = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.+?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/gs

/**
 * Returns the first expiry in a chain or the last expiry among authorities. Returns an empty list without a
 * certificate.
 */
function endingIn({ are, pem }: ConfiguredCertificates): readonly Ending[] {
  const all = Array.from(pem.matchAll(certificates)).flatMap(([text]) => endingOf(text))
  const sorted = all.toSorted((a, b) => a.ends - b.ends)
  return are === 'chain' ? sorted.slice(0, 1) : sorted.slice(-1)
}

function endingOf(text: string): readonly Ending[] {
  try {
    const { subject, validTo } = new X509Certificate(text)
    return [{ subject: subject.replaceAll('\n', ', '), ends: Date.parse(validTo) }]
  } catch {
    return []
  }
}
