export declare const unbundled: readonly string[];
export declare const absent: string[];
