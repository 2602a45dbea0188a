//! Template handles, as described in `handle-protocol.md` §6.9.
#![cfg(feature = "namespace")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use handfast_wire::Value;
use handfast_wire::namespace::{Namespace, NamespaceError, Outcome, delimiter, evaluate, split};
use proptest::prelude::*;

const EXAMPLE: &str = r#"<namespace><template delimiter="@"><foreach>
 <if value="type" test="equals" expression="URL">
  <if value="extension" test="matches" expression="(\d+)-(\d+)" parameter="x">
   <value data="${data}?start=${x[1]}&amp;len=${x[2]}"/></if>
  <else><notfound/></else>
 </if>
 <else><value/></else>
</foreach></template></namespace>"#;

fn values() -> Vec<Value<'static>> {
    vec![
        Value::new(1, "URL", b"https://example.org/abc"),
        Value::new(2, "EMAIL", b"a@example.org"),
    ]
}

fn made(xml: &str, handle: &str, values: &[Value<'_>]) -> Result<Outcome, NamespaceError> {
    let chain = [Namespace::parse(xml)?];
    let delimiter = delimiter(&chain).unwrap_or("@");
    let handle = split(handle, delimiter).unwrap();
    evaluate(&chain, &handle, values, false, &mut |_| None)
}

/// Index, type and data of each value that a template makes of `20.1/abc@10-20`.
fn lines(template: &str) -> Vec<String> {
    let xml = format!("<n><template>{template}</template></n>");
    let Outcome::Values(values) = made(&xml, "20.1/abc@10-20", &values()).unwrap() else {
        return vec!["not found".to_owned()];
    };
    let line = |value: &Value<'_>| {
        let (index, value_type) = (value.index, &value.value_type);
        format!("{index} {value_type} {}", value.text().unwrap())
    };
    values.iter().map(line).collect()
}

#[test]
fn the_example_of_the_specification() {
    let found = made(EXAMPLE, "20.500.12345/abc@10-20", &values()).unwrap();
    let mut expected = values();
    expected[0].data = b"https://example.org/abc?start=10&len=20".into();
    assert_eq!(found, Outcome::Values(expected));
    for handle in [
        "20.500.12345/abc@bad",
        "20.500.12345/abc@",
        "20.500.12345/abc@1-2-3",
    ] {
        assert_eq!(made(EXAMPLE, handle, &values()), Ok(Outcome::NotFound));
    }
    let empty = made(EXAMPLE, "20.500.12345/nosuch@1-2", &[]);
    assert_eq!(empty, Ok(Outcome::Values(vec![])));
}

#[test]
fn values_outside_of_foreach_are_fresh() {
    assert_eq!(
        lines(r#"<value index="7" type="A" data="${handle} ${base}"/><value type="B">t</value>"#),
        ["1 A 20.1/abc@10-20 20.1/abc", "2 B t"]
    );
    assert!(lines(r#"<value type="A"/><value data="x"/><value/>"#).is_empty());
    assert_eq!(
        lines(r#"<value type="X"> <loc a="${extension}"/><b>c</b> </value>"#),
        [r#"1 X <loc a="10-20"/><b>c</b>"#]
    );
}

#[test]
fn values_inside_of_foreach_are_copies() {
    assert_eq!(
        lines(r#"<foreach><value index="2" type="${type}.x"/></foreach>"#),
        ["2 URL.x https://example.org/abc", "3 EMAIL.x a@example.org"]
    );
    assert_eq!(
        lines("<foreach><foreach><value/></foreach></foreach>"),
        [""; 0]
    );
}

#[test]
fn conditions_are_turned_round_by_else_and_negate() {
    let said = |template: &str| {
        let template = template.replace(
            "YES",
            r#"<value type="T" data="yes ${x} ${extension[1]}"/>"#,
        );
        lines(&template.replace("NO", r#"<value type="T" data="no"/>"#))
    };
    let yes = ["1 T yes  "];
    assert_eq!(
        said(r#"<if expression="10-20">YES</if><else>NO</else>"#),
        yes
    );
    assert_eq!(
        said(r#"<if expression="x">YES</if><else>NO</else>"#),
        ["1 T no"]
    );
    assert_eq!(said(r#"<if expression="x" negate="true">YES</if>"#), yes);
    assert_eq!(said("<if>YES</if><else>NO</else>"), yes);
    assert_eq!(
        said(r#"<if expression="x">NO</if><else>YES</else><else>NO</else>"#),
        yes
    );
    assert_eq!(
        said(r#"<if test="matches" expression="(\d+)-.*" >YES</if>"#),
        ["1 T yes  10"]
    );
    assert_eq!(
        said(r#"<if value="base" test="matches" expression="20.1/ABC" parameter="x">YES</if>"#),
        ["1 T yes 20.1/abc "]
    );
    // The whole text matches, or nothing.
    assert!(said(r#"<if test="matches" expression="10|1">YES</if>"#).is_empty());
    assert!(said("<else>NO</else>").is_empty());
}

#[test]
fn definitions_hold_for_the_rest_of_their_level() {
    let template = r#"<if><def parameter="x"><value type="T" data="[${extension}]"/></def>
        <value type="A" data="${x}"/></if><value type="B" data="${x}"/>"#;
    assert_eq!(lines(template), ["1 A [10-20]", "2 B "]);
}

#[test]
fn templates_may_refer_to_others() {
    let chain = [Namespace::parse(r#"<n><template ref="3:20.1/t"/></n>"#).unwrap()];
    let handle = split("20.1/a@b", "@").unwrap();
    let mut calls = 0;
    let mut evaluate = |text: Option<&str>| {
        calls = 0;
        evaluate(&chain, &handle, &[], false, &mut |reference| {
            calls += 1;
            assert_eq!(reference.to_string(), "3:20.1/t");
            text.map(str::to_owned)
        })
    };
    let expected = Ok(Outcome::Values(vec![Value::new(1, "T", b"b")]));
    let body = r#"<value type="T" data="${extension}"/>"#;
    for xml in [
        format!("<template>{body}</template>"),
        format!("<namespace><template>{body}</template></namespace>"),
        format!("<any>{body}</any>"),
    ] {
        assert_eq!(evaluate(Some(&xml)), expected);
    }
    assert_eq!(evaluate(None), Ok(Outcome::NotFound));
    assert_eq!(evaluate(Some("<")), Ok(Outcome::Values(vec![])));
    let endless = evaluate(Some(r#"<template ref="3:20.1/t"/>"#));
    assert_eq!(endless, Ok(Outcome::NotFound));
    assert_eq!(calls, 10);
}

#[test]
fn without_a_template_the_values_are_those_of_the_base() {
    let found = made("<namespace/>", "20.1/abc@x", &values());
    assert_eq!(found, Ok(Outcome::Values(values())));
}

#[test]
fn templates_that_cost_too_much_are_stopped() {
    let many: Vec<Value<'_>> = (1..2000)
        .map(|index| Value::new(index, "URL", b"x"))
        .collect();
    let inner = "<if>".repeat(60) + &r#"<value type="T" data="${data}${data}"/>"#.repeat(100);
    let xml = format!(
        "<n><template><foreach>{inner}{}</foreach></template></n>",
        "</if>".repeat(60)
    );
    assert_eq!(made(&xml, "20.1/a@b", &many), Err(NamespaceError::TooMuch));
    let deep = format!(
        "<n><template>{}{}</template></n>",
        "<if>".repeat(70),
        "</if>".repeat(70)
    );
    assert_eq!(made(&deep, "20.1/a@b", &many), Err(NamespaceError::TooMuch));
    // Each definition doubles the text.
    let doubled: String = (0..40)
        .map(|_| r#"<def parameter="base"><value type="T" data="${base}${base}"/></def>"#)
        .collect();
    let xml = format!("<n><template>{doubled}</template></n>");
    assert_eq!(made(&xml, "20.1/a@b", &many), Err(NamespaceError::TooMuch));
    let long = vec![b'x'; 100_000];
    let long = [Value::new(1, "URL", &long)];
    let repeated = "${data}".repeat(30_000);
    let xml =
        format!(r#"<n><template><foreach><value data="{repeated}"/></foreach></template></n>"#);
    assert_eq!(made(&xml, "20.1/a@b", &long), Err(NamespaceError::TooMuch));
    let expression = |expression: &str| {
        let test = format!(r#"<if test="matches" expression="{expression}"/>"#);
        made(
            &format!("<n><template>{test}</template></n>"),
            "20.1/a@b",
            &[],
        )
    };
    for bad in ["(", "a)|(b", "(?=a)", "((a{100}){100}){100}", r"(a)\1"] {
        assert_eq!(expression(bad), Err(NamespaceError::Expression), "{bad}");
    }
    let nested = "<n>".repeat(19_000) + &"</n>".repeat(19_000);
    assert!(Namespace::parse(&nested).is_ok());
    let nested = "<n>".repeat(30_000) + &"</n>".repeat(30_000);
    assert_eq!(
        Namespace::parse(&nested).err(),
        Some(NamespaceError::TooMuch)
    );
    let doctype = r#"<!DOCTYPE n [<!ENTITY a "b">]><n>&a;</n>"#;
    assert!(matches!(
        Namespace::parse(doctype),
        Err(NamespaceError::Xml { .. })
    ));
}

proptest! {
    #[test]
    fn no_template_panics(words in prop::collection::vec(0..16_usize, 0..30), data in ".{0,20}") {
        let parts = [
            "<if>", "</if>", "<else>", "</else>", "<foreach>", "</foreach>", "<value/>",
            r#"<value type="${type}" data="$1\"/>"#, r#"<def parameter="x">"#, "</def>",
            r#"<if test="matches" expression="(.*)(b?)">"#, "</if>", "text", "${x[0]}",
            r#"<if value="data" expression="x" negate="true">"#, "</if>",
        ];
        let body: String = words.iter().filter_map(|word| parts.get(*word).copied()).collect();
        let xml = format!("<n><template>{body}</template></n>");
        let values = [Value::new(u32::MAX, "URL", data.as_bytes())];
        let _ = made(&xml, "20.1/a@b", &values);
        let _ = Namespace::parse(&data);
    }
}
