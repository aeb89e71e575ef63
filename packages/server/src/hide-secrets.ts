const HIDDEN = '***'

// Each pattern matches a JSON escape as a pair of characters, so that the JSON stays valid. The length limits keep the
// matching time linear.
const CONNECTION = /:\/\/([^\s:@/"\\]{0,128}):(?:\\.|[^\s"\\]){0,1024}@/g
const PARAMETER =
  /\b(password|passwd|pwd|api_?key|access_?token|token|secret|secrets_key)=(?:'(?:\\.|[^'"\\])*'|(?:\\.|[^&;\s"\\])+)/gi
const KEY = /\bgw_[\w-]{8,}/g
const SIGNING_SECRET = /\bwhsec_[\w+/=-]{8,}/g
const HEADER = /\b(Bearer|Basic) [\w+/=.~-]{8,}/gi

/**
 * Replaces secrets by `***`: passwords in connection strings (`scheme://user:password@host`), values of credential
 * parameters (`password=…`, `apikey=…`, `token=…`) and of an `Authorization` header, keys of accounts (`gw_…`) and
 * signing secrets (`whsec_…`). Valid JSON stays valid.
 */
export const hideSecrets = (text: string): string =>
  text
    .replace(CONNECTION, `://$1:${HIDDEN}@`)
    .replace(PARAMETER, `$1=${HIDDEN}`)
    .replace(HEADER, `$1 ${HIDDEN}`)
    .replace(KEY, `gw_${HIDDEN}`)
    .replace(SIGNING_SECRET, `whsec_${HIDDEN}`)
