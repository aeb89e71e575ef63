import type { CarrierSpecification } from './carrier-specification.ts'

/** The certificates of carriers in PEM, as they were read, each with the carrier and the setting. */
export const certificatesOf = (
  carriers: readonly CarrierSpecification[],
): readonly { readonly of: string; readonly pem: string }[] =>
  carriers.flatMap(({ id, kind, settings }) =>
    kind !== 'smpp' || settings.tls === undefined
      ? []
      : (['ca', 'cert'] as const).flatMap((setting) => {
          const pem = settings.tls?.[setting]
          return pem === undefined ? [] : [{ of: `carrier ${id} ${setting}`, pem }]
        }),
  )
