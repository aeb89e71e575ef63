import type { CarrierSpecification } from './carrier-specification.ts'

export interface CarrierCertificates {
  /** The carrier and the setting. */
  readonly of: string
  readonly are: 'chain' | 'authorities'
  readonly pem: string
}

/** The certificates of carriers in PEM, as they were read. */
export const certificatesOf = (carriers: readonly CarrierSpecification[]): readonly CarrierCertificates[] =>
  carriers.flatMap(({ id, kind, settings }) =>
    kind !== 'smpp' || settings.tls === undefined
      ? []
      : [
          ...given(`carrier ${id} ca`, 'authorities', settings.tls.ca),
          ...given(`carrier ${id} cert`, 'chain', settings.tls.cert),
        ],
  )

const given = (of: string, are: CarrierCertificates['are'], pem: string | undefined): readonly CarrierCertificates[] =>
  pem === undefined ? [] : [{ of, are, pem }]
