/** Reason why a recipient gets no message, in order of precedence (ruling 1.10). */
export type Refusal =
  | 'account-locked'
  | 'no-message'
  | 'too-long'
  | 'no-number'
  | 'invalid-number'
  | 'blacklisted'
  | 'trial-to-self'
  | 'opted-out'
  | 'do-not-contact'
  | 'insufficient-credits'
