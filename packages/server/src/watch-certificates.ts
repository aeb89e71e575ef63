import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Certificates that a process was given and works with. */
export interface GivenCertificates {
  /** For operators: whose they are and by which setting, such as `carrier mtn ca`. Of a bounded set. */
  readonly of: string
  /** One or more in PEM. What is none, or cannot be read, is passed over: TLS tells of it. */
  readonly pem: string
}

export interface CertificateSettings {
  /** Those that it works with now. */
  readonly given: () => readonly GivenCertificates[]
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly metrics: Pick<Metrics, 'gauge'>
  /** In milliseconds since 1970. */
  readonly now: () => number
  readonly everyMilliseconds?: number
}

const dayMilliseconds = 86_400_000
const warnDays = 14

/** Warns at once and once a day of certificates that end within 14 days, and measures when they end. Of several in one file the first to end counts. */
export function watchCertificates({
  given,
  log,
  metrics,
  now,
  everyMilliseconds = dayMilliseconds,
}: CertificateSettings): { stop: () => void } {
  const firstToEnd = () => given().flatMap(({ of, pem }) => endingsIn(pem).map((ending) => ({ of, ...ending })))

  function check(): void {
    for (const { of, subject, ends } of firstToEnd()) {
      const days = Math.floor((ends - now()) / dayMilliseconds)
      const fields = { certificate: of, subject, ends: new Date(ends).toISOString() }
      if (ends <= now()) log.error(fields, 'a certificate has ended')
      else if (days < warnDays) log.warn({ ...fields, days }, 'a certificate ends soon')
    }
  }

  metrics.gauge(
    'gateway_certificate_remaining_seconds',
    'Until a certificate that this process was given ends; negative: it has ended',
    ['certificate'],
    () => firstToEnd().map(({ of, ends }) => ({ labels: { certificate: of }, value: (ends - now()) / 1000 })),
  )
  check()
  const timer = setInterval(check, everyMilliseconds).unref()
  return { stop: () => clearInterval(timer) }
}

/** Those that Node trusts besides its own, by the variable that it reads itself. */
export function extraAuthorities(file = process.env['NODE_EXTRA_CA_CERTS']): readonly GivenCertificates[] {
  if (file === undefined || file === '') return []
  try {
    return [{ of: 'NODE_EXTRA_CA_CERTS', pem: readFileSync(file, 'utf8') }]
  } catch {
    // Node itself warns of it.
    return []
  }
}

interface Ending {
  readonly subject: string
  readonly ends: number
}

const certificates = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.+?-----END (?:X509 |TRUSTED )?CERTIFICATE-----/gs

/** Of the certificate that ends first; none if there is none. */
function endingsIn(pem: string): readonly Ending[] {
  const all = Array.from(pem.matchAll(certificates)).flatMap(([text]) => endingOf(text))
  return all.toSorted((a, b) => a.ends - b.ends).slice(0, 1)
}

function endingOf(text: string): readonly Ending[] {
  try {
    const { subject, validTo } = new X509Certificate(text)
    return [{ subject: subject.replaceAll('\n', ', '), ends: Date.parse(validTo) }]
  } catch {
    return []
  }
}
