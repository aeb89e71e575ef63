import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Returns true if openssl is installed. */
export const canMakeCertificates = (): boolean => spawnSync('openssl', ['version']).status === 0

/**
 * Creates a self-signed certificate for `names` (`DNS:hooks.example`, `IP:127.0.0.1`), valid for a day. Needs openssl.
 */
export function selfSigned(names: readonly string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-certificate-'))
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
    const subject = ['-subj', '/CN=receiver', '-addext', `subjectAltName=${names.join(',')}`]
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
