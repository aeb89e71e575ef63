import { waitingPartsMaxDefault } from '@gateway/core/smpp-customers'
import { optionalPort, optionalText, wholeNumber } from '@gateway/server'

type Whole = ReturnType<typeof wholeNumber>

interface CommonVariables {
  readonly SMPP_TLS_PORT: Whole
  readonly SMPP_TLS_CERT: ReturnType<typeof optionalText>
  readonly SMPP_TLS_KEY: ReturnType<typeof optionalText>
  readonly SMPP_PARTS_MAX: Whole
}

const commonVariables: CommonVariables = {
  SMPP_TLS_PORT: wholeNumber('a TCP port for SMPP with TLS (0 takes any free one)', {
    min: 0,
    max: 65_535,
    byDefault: 3550,
  }),
  SMPP_TLS_CERT: optionalText('a file with the certificate chain for SMPP with TLS, in PEM'),
  SMPP_TLS_KEY: optionalText('a file with the key of that certificate, in PEM'),
  SMPP_PARTS_MAX: wholeNumber('parts of texts of one account that may wait for the others', {
    min: 255,
    max: 1_000_000,
    byDefault: waitingPartsMaxDefault,
  }),
}

/** Variables of the SMPP server in a process of its own. */
export const smppProcessVariables: CommonVariables & { readonly SMPP_PORT: Whole } = {
  SMPP_PORT: wholeNumber('a TCP port for SMPP (0 takes any free one)', { min: 0, max: 65_535, byDefault: 2775 }),
  ...commonVariables,
}

/** Variables of the SMPP server in a process with other servers, which serves SMPP only if SMPP_PORT is set. */
export const smppServerVariables: CommonVariables & { readonly SMPP_PORT: ReturnType<typeof optionalPort> } = {
  SMPP_PORT: optionalPort('for SMPP (0 takes any free one)', 0),
  ...commonVariables,
}

export interface SmppEnvironment {
  readonly HOST: string
  readonly CLIENTS_MAX: number
  readonly SMPP_PORT: number | undefined
  readonly SMPP_TLS_PORT: number
  readonly SMPP_TLS_CERT: string | undefined
  readonly SMPP_TLS_KEY: string | undefined
}
