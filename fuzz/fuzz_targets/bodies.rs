#![no_main]

use std::fmt::Debug;

use handfast_wire::body::{
    Body, Challenge, ChallengeAnswer, CreateReply, DhOffer, DumpRequest, EncryptedSessionKey,
    ErrorReply, HandleRequest, ListReply, NextTransaction, Referral, RemoveRequest,
    ResolutionReply, ResolutionRequest, RetrieveReply, RetrieveRequest, SessionSetup,
    SessionSetupReply, SiteInfoReply, ValuesRequest, VerifyReply, VerifyRequest,
};
use handfast_wire::{Reader, RootInfo, Version};
use libfuzzer_sys::fuzz_target;

// The first byte is the minor version; the rest is every body in turn. What is read is written as
// something that reads as the same.
fuzz_target!(|data: &[u8]| {
    let Some((minor, data)) = data.split_first() else {
        return;
    };
    let version = Version::new(2, minor % 12);
    macro_rules! check {
        ($($body:ident),*) => {
            $(if let Ok(body) = $body::read(version, &mut Reader::new(data)) {
                let mut bytes = Vec::new();
                body.write(version, &mut bytes);
                same(&body, $body::read(version, &mut Reader::new(&bytes)).ok());
            })*
        };
    }
    check!(
        Challenge,
        ChallengeAnswer,
        CreateReply,
        DhOffer,
        DumpRequest,
        ErrorReply,
        HandleRequest,
        ListReply,
        NextTransaction,
        Referral,
        RemoveRequest,
        ResolutionReply,
        ResolutionRequest,
        RetrieveReply,
        RetrieveRequest,
        RootInfo,
        EncryptedSessionKey,
        SessionSetup,
        SessionSetupReply,
        SiteInfoReply,
        ValuesRequest,
        VerifyReply,
        VerifyRequest
    );
});

fn same<T: PartialEq + Debug>(body: &T, again: Option<T>) {
    assert_eq!(again.as_ref(), Some(body));
}
