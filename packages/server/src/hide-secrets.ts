const HIDDEN = '***'

// Each pattern eats JSON escapes as whole pairs, so that a line of JSON stays one. The bounds keep a hostile line linear.
const CONNECTION = /:\/\/([^\s:@/"\\]{0,128}):(?:\\.|[^\s"\\]){0,1024}@/g
const PARAMETER =
  /\b(password|passwd|pwd|api_?key|access_?token|token|secret)=(?:'(?:\\.|[^'"\\])*'|(?:\\.|[^&;\s"\\])+)/gi
const HEADER = /\b(Bearer|Basic) [\w+/=.~-]{8,}/gi

/**
 * The text without passwords of connection strings (`scheme://user:password@host`), without credential parameters
 * (`password=…`, `apikey=…`, `token=…`) and without values of an `Authorization` header. Valid JSON stays valid JSON.
 */
export const hideSecrets = (text: string): string =>
  text.replace(CONNECTION, `://$1:${HIDDEN}@`).replace(PARAMETER, `$1=${HIDDEN}`).replace(HEADER, `$1 ${HIDDEN}`)
