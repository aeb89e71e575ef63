/** A link that needs a permit. */
export interface PermittedLink {
  /** It may connect, until it drops the permit or this is withdrawn. */
  granted(): void
  /** It must end: `soon`, in good order, or `now`. It drops the permit when it has. */
  withdrawn(when: 'soon' | 'now'): void
}

/** Whether a transceiver, or both links of a pair, may be connected. */
export interface BindPermit {
  /** Calls `granted`, at once or later. */
  take(link: PermittedLink): void
  /** The link has no connection and wants none. */
  drop(link: PermittedLink): void
}

/** Of a carrier whose binds nobody counts. */
export const alwaysPermitted: BindPermit = { take: (link) => link.granted(), drop: () => undefined }
